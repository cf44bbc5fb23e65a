/* expect SW661
 * It reads what a get has yet to bring. */
#include "descriptor.h"
WORD
BUFFER
	.text
	.globl	reads_before_arrival
reads_before_arrival:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 64)
	ADDRESS($4, buffer)
	dma	$5, $18, $4
	fldd	$7, 8($4)	/* HERE */
	fstd	$7, 0($17)
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
