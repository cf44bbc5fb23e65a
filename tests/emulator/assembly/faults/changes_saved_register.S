/* expect SW680
 * $10 is the caller's. */
	.text
	.globl	changes_saved_register
changes_saved_register:
	fldd	$10, 0($16)
	fstd	$10, 0($17)
	ret	$31, ($26), 1	/* HERE */
