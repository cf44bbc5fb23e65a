/* The host's side of the calls of a chip that does not exist, by those that the emulator has. */
#ifndef MESH_HOST_H
#define MESH_HOST_H
#ifndef __tern_host__
#error "mesh_host.h is for the host"
#endif
#include <athread.h>

#define MESH_KERNEL(kernel) extern void slave_##kernel(void *)
#define mesh_start() athread_init()
#define mesh_spawn(kernel, argument) athread_spawn(kernel, argument)
#define mesh_join() athread_join()

#endif
