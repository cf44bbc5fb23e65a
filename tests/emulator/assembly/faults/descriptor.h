/* What programs with DMA start with: a word of the LDM for replies, its address in $2, and a descriptor of the
 * machine at 32($sp), which goes to $5. */
#define WORD \
	.section .tdata, "waT", "progbits"; .align 3; .type word, @object; .size word, 8; word: .skip 8; .text
#define UNSET_WORD \
	.section .tbss, "waT", "nobits"; .align 3; .type word, @object; .size word, 8; word: .skip 8; .text
#define BUFFER \
	.section .tbss, "waT", "nobits"; .align 5; .type buffer, @object; .size buffer, 64; buffer: .skip 64; .text
#define ADDRESS(register, name) ldih register, name($31) !tprelhi; ldi register, name(register) !tprello
#define DESCRIPTOR(operation, bytes) \
	ADDRESS($2, word); vstd $31, 32($sp); ldi $1, bytes($31); stw $1, 32($sp); \
	mov operation, $1; stb $1, 39($sp); sth $2, 40($sp); vldd $5, 32($sp)
#define GET 1
#define PUT 0
