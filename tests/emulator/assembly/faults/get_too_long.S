/* expect SW623
 * A get of more than the buffer has room for. */
#include "descriptor.h"
WORD
BUFFER
	.text
	.globl	get_too_long
get_too_long:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 128)
	ADDRESS($4, buffer)
	dma	$5, $18, $4	/* HERE */
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
