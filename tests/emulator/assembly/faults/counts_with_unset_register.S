/* expect SW681
 * The first turn of the loop adds to what nobody has set. */
	.text
	.globl	counts_with_unset_register
counts_with_unset_register:
	mov	64, $1
.Lturn:
	fldd	$2, 0($16)
	faddd	$3, $2, $3	/* HERE */
	ldi	$16, 8($16)
	subw	$1, 1, $1
	bgt	$1, .Lturn
	fstd	$3, 0($17)
	ret	$31, ($26), 1
