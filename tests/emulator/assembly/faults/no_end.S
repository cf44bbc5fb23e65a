/* expect SW682
 * There is no return: a label is all that stands behind the last instruction. */
	.text
	.globl	no_end
no_end:
	mov	64, $1
.Lturn:
	fldd	$2, 0($16)
	fstd	$2, 0($17)
	ldi	$16, 8($16)
	ldi	$17, 8($17)
	subw	$1, 1, $1
	bgt	$1, .Lturn	/* HERE */
.Lend:
