/* expect SW665
 * A get is under way when the kernel returns. */
#include "descriptor.h"
WORD
BUFFER
	.text
	.globl	returns_before_arrival
returns_before_arrival:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 64)
	ADDRESS($4, buffer)
	dma	$5, $18, $4	/* HERE */
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
