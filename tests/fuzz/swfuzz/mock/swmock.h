/* A core group for tests of generated code: 64 CPEs take turns from barrier to barrier, transfers are copies. */
#ifndef SWMOCK_H
#define SWMOCK_H

typedef enum { PE_MODE } dma_mode;

void swmock_spawn(void (*kernel)(void *), void *argument);
int swmock_get(const void *memory, void *ldm, long length, void *reply, long stride, long block);
int swmock_put(const void *ldm, void *memory, long length, void *reply, long stride, long block);
void swmock_wait(void *reply, int value);
void swmock_barrier(void);
void athread_dma_barrier(void);
extern int swmock_pen;

#endif
