/* Messages that the host sends: each is made once, and stored at all its places in the source. */

struct pack_shared {
    int   selected[EP_GPU_SELECTED];
    float weight[EP_GPU_SELECTED];
};

DEVICE void store_message(const char *image, u64 to, u32 units)
{
    ROLLED for (u32 i = threadIdx.x; i < units; i += blockDim.x)
        AT(uint4, to)[i] = ((const uint4 *)image)[i];
}

/* A block has a token at a time: places first[token] to first[token + 1] of its message. */
PAIR_KERNEL weir_ep_pack(ARGS a, u64 places, u64 first, u64 slot)
{
    SHARED(struct pack_shared, s);
    SHARED_BYTES(image);
    struct op o = begin(&a, 0, slot, 0);
    for (u64 t = blockIdx.x; t < (u64)a.tokens; t += gridDim.x) {
        struct held row;
        hold_row(&a, t, &row);
        for (u32 k = threadIdx.x; k < (u32)a.top_k; k += blockDim.x) {
            s->selected[k] = AT(const int, a.experts)[t * (u64)a.top_k + k];
            s->weight[k]   = AT(const float, a.weights)[t * (u64)a.top_k + k];
        }
        barrier();
        make_message(&a, t, s->selected, s->weight, &row, image);
        barrier();
        for (u32 i = AT(const u32, first)[t]; i < AT(const u32, first)[t + 1]; i++)
            store_message(image, AT(const u64, places)[i], a.room / EP_GPU_UNIT);
        barrier();
    }
    stamp(&o, EP_ENDED);
}
