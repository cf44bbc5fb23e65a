/* y = 32 * 63 + 6400 * me
 * Sums x in four lanes, adds them up, and leaves the sum everywhere. */
	.text
	.globl	dot_product
	.ent	dot_product
dot_product:
	mov	$31, $1
	mov	$31, $2
	.align	4
.Lsum:
	vldd	$3, 0($16)
	vaddd	$2, $3, $2
	addl	$1, 4, $1
	ldi	$16, 32($16)
	cmplt	$1, 64, $4
	bne	$4, .Lsum
	vextf	$2, 1, $3
	vextf	$2, 2, $4
	vextf	$2, 3, $5
	faddd	$2, $3, $2
	faddd	$4, $5, $4
	faddd	$2, $4, $2
	vshff	$2, $2, $31, $2
	ldi	$1, 15($31)
1:	vstd	$2, 0($17)
	ldi	$17, 32($17)
	subl	$1, 1, $1
	bge	$1, 1b
	ret	$31, ($26), 1
	.end	dot_product
