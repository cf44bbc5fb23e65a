/* y = 2 * x + me
 * Vectors: two loads, a multiply-add and a store a turn, in a loop that counts down. */
	.text
	.align	4
	.globl	axpy
	.ent	axpy
axpy:
	fcvtld	$19, $1
	vshff	$1, $1, $31, $1
	ldi	$2, 1024($31)
	sll	$2, 52, $2
	vshff	$2, $2, $31, $2
	ldi	$3, 64($31)
.Lloop:
	vldd	$4, 0($16)
	vmad	$2, $4, $1, $4
	vstd	$4, 0($17)
	ldi	$16, 32($16)
	ldi	$17, 32($17)
	subl	$3, 4, $3
	bgt	$3, .Lloop
	ret	$31, ($26), 1
	.end	axpy
