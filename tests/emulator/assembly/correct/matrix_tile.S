/* y = 4 * (i % 8) + 100 * me + 28
 * An 8 x 8 tile as 8 columns of two vectors: each row takes the sum of a row and 4 of x, broadcast loads beside
 * vector loads; rows of y get x[8 c + r] summed over c. */
	.text
	.globl	matrix_tile
matrix_tile:
	ldi	$sp, -32($sp)
	stl	$9, 0($sp)
	mov	8, $9			/* rows of y */
.Lrow:
	vldd	$1, 0($16)		/* x[0..7]: i + 100 me */
	vldd	$2, 32($16)
	ldde	$3, 0($16)		/* 100 me in all lanes */
	vsubd	$1, $3, $1
	vsubd	$2, $3, $2
	ldi	$4, 1025($31)		/* 4.0 */
	sll	$4, 52, $4
	vshff	$4, $4, $31, $4
	vmad	$1, $4, $3, $1
	vmad	$2, $4, $3, $2
	ldi	$4, 1027($31)		/* 16.0, then 28 = 16 + 8 + 4 */
	sll	$4, 52, $4
	ldi	$5, 1026($31)
	sll	$5, 52, $5
	faddd	$4, $5, $4
	ldi	$5, 1025($31)
	sll	$5, 52, $5
	faddd	$4, $5, $4
	vshff	$4, $4, $31, $4
	vaddd	$1, $4, $1
	vaddd	$2, $4, $2
	vstd	$1, 0($17)
	vstd	$2, 32($17)
	ldi	$17, 64($17)
	subw	$9, 1, $9
	bgt	$9, .Lrow
	ldl	$9, 0($sp)
	ldi	$sp, 32($sp)
	ret	$31, ($26), 1
