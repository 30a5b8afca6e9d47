package bank.ledger;

import java.util.List;

/** Keeps entries. class Hidden {} */
@Deprecated
public final class Ledger<T extends Entry> extends Base implements Iterable<T> {
    private static final int LIMIT = 100;
    private final List<T> entries = new ArrayList<>();

    public Ledger(List<T> entries) {
        this.entries.addAll(entries);
    }

    @Override
    @SuppressWarnings({"unchecked", "raw(types"})
    public Iterator<T> iterator() {
        return new Iterator<T>() {
            public boolean hasNext() { return false; }
        };
    }

    protected <R> R fold(
        R start,
        BiFunction<R, ? super T, R> step
    ) throws LedgerException {
        String text = "class Text { void no() {} }";
        return start;
    }

    static class Cursor {
        void advance() {}
    }

    enum Side { DEBIT, CREDIT }
}

interface Entry {
    long cents();

    default String label() { return ""; }
}

enum Currency {
    EUR("€"), USD("$");

    private final String sign;

    Currency(String sign) { this.sign = sign; }

    String sign() { return sign; }
}

record Posting(long cents, Currency currency) {
    Posting {
        if (cents < 0) throw new IllegalArgumentException();
    }
}

@interface Audited {
    String value() default "";
}
