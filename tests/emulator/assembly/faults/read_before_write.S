/* expect SW663
 * y has no value yet. */
	.text
	.globl	read_before_write
read_before_write:
	fldd	$1, 0($16)
	fldd	$2, 8($17)	/* HERE */
	faddd	$1, $2, $1
	fstd	$1, 0($17)
	ret	$31, ($26), 1
