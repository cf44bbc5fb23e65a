/* expect SW682
 * The same, where nothing of the code is left but its end. */
	.text
	.globl	no_end_of_a_wait
no_end_of_a_wait:
	mov	5, $1
.Lturn:
	subw	$1, 1, $1
	bgt	$1, .Lturn	/* HERE */
