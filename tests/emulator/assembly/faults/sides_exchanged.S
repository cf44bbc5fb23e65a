/* expect SW616
 * The two addresses of a transfer in the wrong order. */
#include "descriptor.h"
WORD
BUFFER
	.text
	.globl	sides_exchanged
sides_exchanged:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 64)
	ADDRESS($4, buffer)
	dma	$5, $4, $18	/* HERE */
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
