"""The small process that watches over one command, whatever becomes of the process that asked.

`program` is started by `shell.supervision` with a bare interpreter and nothing but the standard
library. It waits for orders and forks for each of them: the fork (`job`) starts the command, takes
down what it prints (`spooling`), ends it with everything it started (`tree`, `portable`), keeps it
within limits (`limits`) and writes down how it ended, also when nobody is left to hear of it.
"""
