/* expect SW681
 * The sums do not begin with zero. */
	.text
	.globl	adds_to_unset_vector
adds_to_unset_vector:
	vldd	$1, 0($16)
	vldd	$2, 32($16)
	vmad	$1, $2, $5, $5	/* HERE */
	vstd	$5, 0($17)
	ret	$31, ($26), 1
