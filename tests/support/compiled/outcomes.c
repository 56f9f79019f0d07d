/* What a run comes to, as a number: two versions of a function that leave the same have the same. */

static void ivd_hash(const void *at, uint64_t n)
{
    uint64_t h = ivd->run.undefined ? ivd->run.undefined : 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)at)[i]) * 0x100000001b3u;
    ivd->run.undefined = h;
}

/* A word that may be an address is where in the arena it leads, or something else that is none. */
static void ivd_see(const void *at, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 8) {
        uint64_t word = 0, size = n - i < 8 ? n - i : 8;
        memcpy(&word, (const char *)at + i, size);
        uint64_t offset = word - (uint64_t)ivd->arena;
        if (size == 8 && offset < IVD_ARENA)
            word = offset;
        else if (size == 8 && word >= 0x500000000000u && word < 0x800000000000u)
            word = 1;
        ivd_hash(&word, sizeof word);
    }
}

static void ivd_see_double(double d)
{
    if (d != d)
        d = 0.0 / 0.0 < 0 ? 0 : 12345.678;
    ivd_hash(&d, sizeof d);
}

static IVD_PLAIN void ivd_see_text(const char *text)
{
    uint64_t n = 0;
    if (text && IVD_TRY(n = strnlen(text, 64)))
        ivd_hash(text, n);
}

static void ivd_see_objects(void)
{
    for (int i = 0; i < ivd->object_count; i++) {
        struct ivd_object *o = &ivd->objects[i];
        if (o->at >= ivd->arena && o->at < ivd->arena + IVD_ARENA)
            ivd_see(o->at, o->size * o->count);
    }
}

static char *ivd_printed;
static size_t ivd_printed_size;

static void ivd_listen(void) { stdout = open_memstream(&ivd_printed, &ivd_printed_size); }

static void ivd_hear(void)
{
    fclose(stdout);
    ivd_hash(ivd_printed, ivd_printed_size);
    free(ivd_printed);
}

/* The arguments of the run that is asked for go to a file. */
static FILE *ivd_shown(void)
{
    const char *asked = getenv("IVD_RUN");
    return asked && atol(asked) == ivd->index ? fopen("input", "a") : NULL;
}

static void ivd_show_pointer(FILE *to, const char *name, const char *at)
{
    fprintf(to, "%s = %s", name, at ? "{" : "NULL");
    for (int i = 0; i < ivd->object_count; i++) {
        struct ivd_object *o = &ivd->objects[i];
        for (uint64_t k = 0; at == o->at && k < o->size * o->count && k < 64; k++)
            fprintf(to, "%s%02x", k % o->size ? "" : " ", (unsigned char)at[k]);
        if (at == o->at)
            break;
    }
    fprintf(to, at ? " }; " : "; ");
}
