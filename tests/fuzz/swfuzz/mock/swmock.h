/* A core group for tests of generated code: 64 CPEs take turns, from where they meet or wait for each other to the
   next such place; transfers are copies. */
#ifndef SWMOCK_H
#define SWMOCK_H

typedef enum { PE_MODE } dma_mode;

void swmock_spawn(void (*kernel)(void *), void *argument);
int swmock_get(const void *memory, void *ldm, long length, void *reply, long stride, long block);
int swmock_put(const void *ldm, void *memory, long length, void *reply, long stride, long block);
void swmock_wait(void *reply, int value);
void swmock_barrier(void);
void swmock_bcast(int along, void *to, const void *from, long length, void *reply); /* 1: row, 2: column, 3: all */
void swmock_ibcast(int along, void *to, const void *from, long length, void *sent, void *reply);
void swmock_arrived(void *reply, int value);
void *swmock_aligned(const void *place, long bytes);
void swmock_send(const void *value, long length, int column);
void swmock_receive(void *value, long length, int column);
void athread_dma_barrier(void);
extern int swmock_pen;

#endif
