/* expect SW671
 * A vector of doubles at a multiple of 8, which is none of 32. */
	.text
	.globl	misaligned_vector
misaligned_vector:
	vldd	$1, 0($16)
	vldd	$2, 8($16)	/* HERE */
	vstd	$2, 0($17)
	ret	$31, ($26), 1
