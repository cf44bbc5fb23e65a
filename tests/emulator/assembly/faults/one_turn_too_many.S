/* expect SW623
 * The loop stores 65 elements. */
	.text
	.globl	one_turn_too_many
one_turn_too_many:
	mov	64, $1
.Lturn:
	fstd	$31, 0($17)	/* HERE */
	ldi	$17, 8($17)
	subl	$1, 1, $1
	bge	$1, .Lturn
	ret	$31, ($26), 1
