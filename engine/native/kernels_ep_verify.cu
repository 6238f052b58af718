/* Checks the data of an operation, in the stream of the operations. */

DEVICE u32 piece_mask(const struct ep_piece *p, u32 word)
{
    u32 left = p->bytes - 4 * word;
    return left >= 4 ? ~0u : (1u << 8 * left) - 1;
}

/* Compares pieces, `shift` bytes later in the other half, with their expected data. The word at
 * found gets the smallest number, piece and word of all differences; found 0: stores the data as
 * expected. A block has a piece at a time. */
TEAM_KERNEL weir_ep_verify(u64 pieces, u64 n, u64 shift, u64 expected, u64 found, u64 number)
{
    wait_for_kernel_before();
    for (u64 i = blockIdx.x; i < n; i += gridDim.x) {
        struct ep_piece p = AT(const struct ep_piece, pieces)[i];
        const u32 *is = AT(const u32, p.at + shift);
        u32 *want = AT(u32, expected + p.expected), words = (p.bytes + 3) / 4;
        for (u32 w = threadIdx.x; w < words; w += blockDim.x) {
            u32 v = load_relaxed(is + w);
            if (!found)
                want[w] = v;
            else if ((v ^ want[w]) & piece_mask(&p, w))
                atomicMin(AT(u64, found), number << EP_VERIFY_NUMBER | i << EP_VERIFY_PIECE | w);
        }
    }
    let_next_kernel_start();
}
