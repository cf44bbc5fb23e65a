/* y = i % 4 == 0 ? x : i % 4 == 1 ? -x : i % 4 == 2 ? x * x : 7
 * A jump through a table of labels in the constants, over data of the same file. */
	.section .rodata, "a", "progbits"
	.align	3
.Ltable:
	.quad	.Lsame, .Lnegative, .Lsquare, .Lseven
.Lconstant:
	.double	7.0
	.text
	.globl	jump_table
	.ent	jump_table
jump_table:
	mov	$31, $1
	ldl	$2, .Ltable($gp)	!literal
.Lturn:
	fldd	$3, 0($16)
	and	$1, 3, $4
	s8addl	$4, $2, $4
	ldl	$4, 0($4)
	jmp	$31, ($4)
.Lsame:
	br	$31, .Lnext
.Lnegative:
	fcpysn	$3, $3, $3
	br	.Lnext
.Lsquare:
	fmuld	$3, $3, $3
	br	.Lnext
.Lseven:
	ldl	$5, .rodata($gp)	!literal
	fldd	$3, 32($5)
.Lnext:
	fstd	$3, 0($17)
	ldi	$16, 8($16)
	ldi	$17, 8($17)
	addl	$1, 1, $1
	cmpeq	$1, 64, $4
	beq	$4, .Lturn
	ret	$31, ($26), 1
	.end	jump_table
