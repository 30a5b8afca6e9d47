"""The conversation that a model is sent, folded from the durable events of a session."""

from collections.abc import Sequence

from arc_workbench.agent.jobs import EndedJobs
from arc_workbench.content import Answer, Message, ModelMessage, Text, UserMessage
from arc_workbench.events import (
    AssistantMessage,
    Event,
    FileChanged,
    SettingChanged,
    Steered,
    ToolCallFinished,
    TurnStarted,
)

EMPTY_RESULT = "(no output)"
UNDONE = "[The person undid {change}: {path} is as it was before that change.]"
DRY_RUN = {
    "on": "[A dry run is on: changes of files are kept beside the project until the person applies "
    "them. Commands work on a copy of the project, or do not run where none can be confined.]",
    "off": "[The dry run is over; it held no changes.]",
    "applied": "[The person applied the dry run: its changes are in the project now.]",
    "discarded": "[The person threw the dry run away: its changes are gone.]",
}


class Conversation:
    """Append-only: what was sent once is sent again, letter for letter.

    Results of a reply's calls stand first in the very next user message, all together; words of
    the person follow. Neighbouring user messages are one. An empty reply is not kept. Of jobs that
    ended it is told when a step begins, never in between: a request that is out stays as it is.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._answers: list[Answer] = []
        self._words: list[Text] = []
        self._jobs = EndedJobs()

    def apply(self, event: Event) -> None:
        """Take what the event says into the conversation."""
        self._words += [Text(text=words) for words in self._jobs.apply(event)]
        match event:
            case TurnStarted():
                self._words.append(Text(text=event.prompt))
            case Steered():
                self._words.append(Text(text=event.text))
            case FileChanged(call_id="", undoes=undoes) if undoes:
                self._words.append(Text(text=UNDONE.format(change=undoes, path=event.path)))
            case SettingChanged(key="dryRun", new=new):
                self._words.append(Text(text=DRY_RUN[new]))
            case ToolCallFinished():
                self._answers.append(_answer(event))
            case AssistantMessage():
                self._reply(event)
            case _:
                pass

    def messages(self) -> Sequence[Message]:
        """Everything so far, ending in a user message when there is something to say."""
        waiting = self._waiting()
        return (*self._messages, waiting) if waiting else tuple(self._messages)

    def _reply(self, event: AssistantMessage) -> None:
        content = tuple(b for b in event.content if not (isinstance(b, Text) and not b.text))
        if not content:
            return
        waiting = self._waiting()
        if waiting:
            self._messages.append(waiting)
            self._answers, self._words = [], []
        self._messages.append(ModelMessage(content=content))

    def _waiting(self) -> UserMessage | None:
        content = (*self._answers, *self._words)
        return UserMessage(content=content) if content else None


def _answer(event: ToolCallFinished) -> Answer:
    kept = tuple(b for b in event.result.content if not (isinstance(b, Text) and not b.text))
    return Answer(
        call_id=event.call_id,
        content=kept or (Text(text=EMPTY_RESULT),),
        is_error=event.result.is_error,
    )
