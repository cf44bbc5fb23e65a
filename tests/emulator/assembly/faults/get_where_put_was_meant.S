/* expect SW663
 * It gets into x and then puts y, which has no value. */
#include "descriptor.h"
WORD
	.text
	.globl	get_where_put_was_meant
get_where_put_was_meant:
	ldi	$sp, -64($sp)
	DESCRIPTOR(PUT, 512)
	sll	$19, 9, $4
	addl	$4, $18, $4
	dma	$5, $4, $17	/* HERE */
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
