/* y = 4 * x
 * Calls a C function twice through a local one, with values kept in saved registers and on the stack. */
	.text
	.globl	calls
	.ent	calls
calls:
	.frame	$30, 64, $26
	ldi	$sp, -64($sp)
	stl	$26, 0($sp)
	stl	$9, 8($sp)
	stl	$10, 16($sp)
	stl	$11, 24($sp)
	mov	$16, $9
	mov	$17, $10
	mov	64, $11
.Lturn:
	fldd	$16, 0($9)
	bsr	$26, .Lfourfold
	fstd	$0, 0($10)
	ldi	$9, 8($9)
	ldi	$10, 8($10)
	subl	$11, 1, $11
	bgt	$11, .Lturn
	ldl	$26, 0($sp)
	ldl	$9, 8($sp)
	ldl	$10, 16($sp)
	ldl	$11, 24($sp)
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
.Lfourfold:
	ldi	$sp, -32($sp)
	stl	$26, 0($sp)
	bsr	$26, twice
	mov	$0, $16
	ldl	$27, twice($gp)		!literal
	call	$26, ($27), twice
	ldl	$26, 0($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
	.end	calls
