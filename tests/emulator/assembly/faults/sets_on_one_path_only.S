/* expect SW681
 * $2 gets a value on the CPEs other than number 0 alone. */
	.text
	.globl	sets_on_one_path_only
sets_on_one_path_only:
	fldd	$1, 0($16)
	beq	$19, .Lsum
	fldd	$2, 8($16)
.Lsum:
	faddd	$1, $2, $1	/* HERE */
	fstd	$1, 0($17)
	ret	$31, ($26), 1
