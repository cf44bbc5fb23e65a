/* expect SW682
 * The loop takes stack in each turn. */
	.text
	.globl	lowers_stack_in_a_loop
lowers_stack_in_a_loop:
	mov	$sp, $3
	mov	100, $1
.Lturn:
	ldi	$sp, -64($sp)	/* HERE */
	stl	$1, 0($sp)
	subl	$1, 1, $1
	bgt	$1, .Lturn
	mov	$3, $sp
	ret	$31, ($26), 1
