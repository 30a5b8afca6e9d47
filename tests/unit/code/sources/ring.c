/* A ring buffer. int not_this(void) { } */
#include <stddef.h>
#ifndef RING_H
#define RING_H
#define RING_SIZE 64
#define RING_NEXT(i) \
    (((i) + 1) % RING_SIZE)

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long ring_size_t;

struct ring;

struct ring {
    int items[RING_SIZE];
    size_t head, tail;
};

typedef struct {
    int x, y;
} point_t;

enum ring_state { RING_EMPTY, RING_FULL };

union word { int i; float f; };

typedef int (*ring_fn)(struct ring *, int);

extern int ring_push(struct ring *r, int item);
static const char *const names[] = { "a", "int b(void) {" };
static int counter = 0;

#ifdef DEBUG
static void
ring_dump(const struct ring *r,
          int depth) /* for people */
{
    if (depth) { return; }
}
#endif

int *ring_peek(struct ring *r)
{
    return &r->items[r->head];
}

#ifdef __cplusplus
}
#endif
#endif
