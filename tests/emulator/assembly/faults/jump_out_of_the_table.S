/* expect SW682
 * The number of the label is too large: what it jumps to is no label. */
	.text
	.globl	jump_out_of_the_table
jump_out_of_the_table:
	ldl	$1, .Ltable($gp)	!literal
	ldl	$1, 16($1)
	jmp	$31, ($1)	/* HERE */
.Lone:
.Ltwo:
	ret	$31, ($26), 1
	.section .rodata
	.align	3
.Ltable:
	.quad	.Lone, .Ltwo, 12345
