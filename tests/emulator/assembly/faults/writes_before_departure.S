/* expect SW661
 * It writes what a put has yet to send. */
#include "descriptor.h"
WORD
	.text
	.globl	writes_before_departure
writes_before_departure:
	ldi	$sp, -64($sp)
	DESCRIPTOR(PUT, 64)
	s8addl	$19, $18, $4
	sll	$19, 9, $4
	addl	$4, $18, $4
	dma	$5, $4, $16
	fstd	$31, 16($16)	/* HERE */
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
