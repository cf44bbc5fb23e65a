/* y = x + 55
 * The sum of 1 to 10 by a function that calls itself. */
	.text
	.globl	recursion
recursion:
	ldi	$sp, -32($sp)
	stl	$26, 0($sp)
	stl	$16, 8($sp)
	stl	$17, 16($sp)
	mov	10, $16
	bsr	$26, sum
	fcvtld	$0, $0
	ldl	$16, 8($sp)
	ldl	$17, 16($sp)
	mov	64, $1
.Lstore:
	fldd	$2, 0($16)
	faddd	$2, $0, $2
	fstd	$2, 0($17)
	ldi	$16, 8($16)
	ldi	$17, 8($17)
	subl	$1, 1, $1
	bne	$1, .Lstore
	ldl	$26, 0($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1

	.type	sum, @function
sum:
	mov	$31, $0
	beq	$16, .Lnone
	ldi	$sp, -16($sp)
	stl	$26, 0($sp)
	stl	$16, 8($sp)
	subl	$16, 1, $16
	bsr	$26, sum
	ldl	$16, 8($sp)
	addl	$0, $16, $0
	ldl	$26, 0($sp)
	ldi	$sp, 16($sp)
.Lnone:
	ret	$31, ($26), 1
