/* expect SW613
 * A transfer from an address that is no multiple of 4. */
#include "descriptor.h"
WORD
BUFFER
	.text
	.globl	odd_address
odd_address:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 64)
	ADDRESS($4, buffer)
	ldi	$18, 2($18)
	dma	$5, $18, $4	/* HERE */
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
