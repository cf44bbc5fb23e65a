/* y = i + 64 * me
 * Gets its part of j->in with descriptors of the machine, 16 doubles a turn, and waits for each. */
	.section .tdata, "waT", "progbits"
	.align	5
	.type	answer, @object
	.size	answer, 4
answer:
	.skip	4

	.text
	.globl	dma_loop
	.ent	dma_loop
dma_loop:
	ldih	$gp, 0($27)		!gpdisp!1
	ldi	$gp, 0($gp)		!gpdisp!1
	ldi	$sp, -64($sp)
	vstd	$31, 32($sp)
	ldi	$1, 128($31)		/* bytes a turn */
	stw	$1, 32($sp)
	ldi	$1, 16($31)
	srl	$1, 4, $1		/* DMA_GET, PE_MODE */
	stb	$1, 39($sp)
	ldih	$2, answer($31)		!tprelhi
	ldi	$2, answer($2)		!tprello
	sth	$2, 40($sp)
	sll	$19, 9, $3
	addl	$18, $3, $18		/* j->in + 64 me */
	mov	4, $4
.Lturn:
	stw	$31, 0($2)
	vldd	$5, 32($sp)
	dma	$5, $18, $17
.Lwait:
	ldw	$6, 0($2)
	cmpeq	$6, 1, $6
	beq	$6, .Lwait
	ldi	$18, 128($18)
	ldi	$17, 128($17)
	subl	$4, 1, $4
	bgt	$4, .Lturn
	ldi	$sp, 64($sp)
	ret	$31, ($26), 1
	.end	dma_loop
