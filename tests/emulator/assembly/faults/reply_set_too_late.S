/* expect SW662
 * The reply word is set while a transfer counts on it. */
#include "descriptor.h"
WORD
BUFFER
	.text
	.globl	reply_set_too_late
reply_set_too_late:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 64)
	ADDRESS($4, buffer)
	dma	$5, $18, $4
	stw	$31, 0($2)	/* HERE */
.Lwait:
	ldw	$6, 0($2)
	beq	$6, .Lwait
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
