/* y = i + 1 + 2 + 3 + 4
 * Stores of one, two, four and eight bytes side by side on the stack, and a pointer of the LDM kept in a word. */
	.text
	.globl	widths
widths:
	ldi	$sp, -64($sp)
	stw	$17, 40($sp)
	mov	$31, $1
.Lturn:
	ldi	$2, 1($31)
	stb	$2, 3($sp)
	ldi	$2, 2($31)
	sth	$2, 6($sp)
	ldi	$2, 3($31)
	stw	$2, 12($sp)
	ldi	$2, 4($31)
	stl	$2, 24($sp)
	ldbu	$3, 3($sp)
	ldhu	$4, 6($sp)
	ldw	$5, 12($sp)
	ldl	$6, 24($sp)
	addl	$3, $4, $3
	addl	$5, $6, $5
	addl	$3, $5, $3
	addl	$3, $1, $3
	fcvtld	$3, $3
	ldw	$7, 40($sp)
	s8addl	$1, $7, $7
	fstd	$3, 0($7)
	addl	$1, 1, $1
	cmplt	$1, 64, $2
	bne	$2, .Lturn
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
