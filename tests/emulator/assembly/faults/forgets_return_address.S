/* expect SW682
 * A call changes $26, which is not saved. */
	.text
	.globl	forgets_return_address
forgets_return_address:
	bsr	$26, .Lhelp
	ret	$31, ($26), 1	/* HERE */
.Lhelp:
	mov	1, $1
	ret	$31, ($26), 1
