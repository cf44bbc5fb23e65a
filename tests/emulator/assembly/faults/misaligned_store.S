/* expect SW671
 * Four bytes to a multiple of 2. */
	.text
	.globl	misaligned_store
misaligned_store:
	mov	7, $1
	stw	$1, 2($17)	/* HERE */
	ret	$31, ($26), 1
