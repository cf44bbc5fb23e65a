/* expect SW681
 * $2 never gets a value. */
	.text
	.globl	reads_unset_register
reads_unset_register:
	fldd	$1, 0($16)
	faddd	$1, $2, $3	/* HERE */
	fstd	$3, 0($17)
	ret	$31, ($26), 1
