/* expect SW681
 * The register that decides has no value. */
	.text
	.globl	branches_on_unset_register
branches_on_unset_register:
	fldd	$1, 0($16)
	fstd	$1, 0($17)
	bne	$4, .Lend	/* HERE */
	fstd	$31, 8($17)
.Lend:
	ret	$31, ($26), 1
