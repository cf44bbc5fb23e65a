/* expect SW671
 * Eight bytes from a multiple of 4. */
	.text
	.globl	misaligned_long
misaligned_long:
	ldl	$1, 4($16)	/* HERE */
	stl	$1, 0($17)
	ret	$31, ($26), 1
