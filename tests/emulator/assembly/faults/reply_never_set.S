/* expect SW664
 * The reply word has no value when the transfer starts. */
#include "descriptor.h"
UNSET_WORD
BUFFER
	.text
	.globl	reply_never_set
reply_never_set:
	ldi	$sp, -64($sp)
	DESCRIPTOR(GET, 64)
	ADDRESS($4, buffer)
	dma	$5, $18, $4	/* HERE */
	memb
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
