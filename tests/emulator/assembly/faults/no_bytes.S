/* expect SW611
 * A transfer of nothing. */
#include "descriptor.h"
WORD
BUFFER
	.text
	.globl	no_bytes
no_bytes:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 0)
	ADDRESS($4, buffer)
	dma	$5, $18, $4	/* HERE */
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
