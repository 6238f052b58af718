/* Checks what an operation has brought, in the stream of the operations. */

DEVICE u32 piece_mask(const struct ep_piece *p, u32 word)
{
    u32 left = p->bytes - 4 * word;
    return left >= 4 ? ~0u : (1u << 8 * left) - 1;
}

/* A piece is `bytes` from `at` on, `shift` later in the other half. known: where what is known of
 * all pieces begins. found 0: what is there becomes known. Otherwise the first difference that is
 * seen is written to it: the least of number, piece and word. A block has a piece at a time. */
TEAM_KERNEL weir_ep_look(u64 pieces, u64 n, u64 shift, u64 known, u64 found, u64 number)
{
    wait_for_kernel_before();
    for (u64 i = blockIdx.x; i < n; i += gridDim.x) {
        struct ep_piece p = AT(const struct ep_piece, pieces)[i];
        const u32 *is = AT(const u32, p.at + shift);
        u32 *want = AT(u32, known + p.known), words = (p.bytes + 3) / 4;
        for (u32 w = threadIdx.x; w < words; w += blockDim.x) {
            u32 v = load_relaxed(is + w);
            if (!found)
                want[w] = v;
            else if ((v ^ want[w]) & piece_mask(&p, w))
                atomicMin(AT(u64, found), number << EP_LOOK_NUMBER | i << EP_LOOK_PIECE | w);
        }
    }
    let_next_kernel_start();
}
