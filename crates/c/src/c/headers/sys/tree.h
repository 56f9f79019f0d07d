#ifndef __INVDIFF_SYS_TREE_H
#define __INVDIFF_SYS_TREE_H
/* What the operations do is left to the library: how its trees are balanced is nothing to rely on. */
#define RB_HEAD(name, type) struct name { struct type *rbh_root; }
#define RB_INITIALIZER(root) {0}
#define RB_INIT(root) do { (root)->rbh_root = 0; } while (0)
#define RB_ENTRY(type) struct { struct type *rbe_left; struct type *rbe_right; struct type *rbe_parent; int rbe_color; }
#define RB_LEFT(elm, field) ((elm)->field.rbe_left)
#define RB_RIGHT(elm, field) ((elm)->field.rbe_right)
#define RB_PARENT(elm, field) ((elm)->field.rbe_parent)
#define RB_COLOR(elm, field) ((elm)->field.rbe_color)
#define RB_ROOT(head) ((head)->rbh_root)
#define RB_EMPTY(head) ((head)->rbh_root == 0)
#define RB_BLACK 0
#define RB_RED 1
#define RB_NEGINF -1
#define RB_INF 1
#define RB_PROTOTYPE(name, type, field, cmp) \
    struct type *name##_RB_INSERT(struct name *, struct type *); \
    struct type *name##_RB_REMOVE(struct name *, struct type *); \
    struct type *name##_RB_FIND(struct name *, struct type *); \
    struct type *name##_RB_NFIND(struct name *, struct type *); \
    struct type *name##_RB_NEXT(struct type *); \
    struct type *name##_RB_PREV(struct type *); \
    struct type *name##_RB_MINMAX(struct name *, int);
#define RB_PROTOTYPE_STATIC(name, type, field, cmp) RB_PROTOTYPE(name, type, field, cmp)
#define RB_PROTOTYPE_INTERNAL(name, type, field, cmp, attr) RB_PROTOTYPE(name, type, field, cmp)
#define RB_GENERATE(name, type, field, cmp) RB_PROTOTYPE(name, type, field, cmp)
#define RB_GENERATE_STATIC(name, type, field, cmp) RB_PROTOTYPE(name, type, field, cmp)
#define RB_GENERATE_INTERNAL(name, type, field, cmp, attr) RB_PROTOTYPE(name, type, field, cmp)
#define RB_INSERT(name, head, elm) name##_RB_INSERT(head, elm)
#define RB_REMOVE(name, head, elm) name##_RB_REMOVE(head, elm)
#define RB_FIND(name, head, key) name##_RB_FIND(head, key)
#define RB_NFIND(name, head, key) name##_RB_NFIND(head, key)
#define RB_NEXT(name, head, elm) name##_RB_NEXT(elm)
#define RB_PREV(name, head, elm) name##_RB_PREV(elm)
#define RB_MIN(name, head) name##_RB_MINMAX(head, RB_NEGINF)
#define RB_MAX(name, head) name##_RB_MINMAX(head, RB_INF)
#define RB_FOREACH(x, name, head) for ((x) = RB_MIN(name, head); (x) != 0; (x) = name##_RB_NEXT(x))
#define RB_FOREACH_REVERSE(x, name, head) for ((x) = RB_MAX(name, head); (x) != 0; (x) = name##_RB_PREV(x))
#define RB_FOREACH_SAFE(x, name, head, next) \
    for ((x) = RB_MIN(name, head); (x) != 0 && ((next) = name##_RB_NEXT(x), 1); (x) = (next))
#define RB_FOREACH_REVERSE_SAFE(x, name, head, next) \
    for ((x) = RB_MAX(name, head); (x) != 0 && ((next) = name##_RB_PREV(x), 1); (x) = (next))
#define SPLAY_HEAD(name, type) struct name { struct type *sph_root; }
#define SPLAY_INITIALIZER(root) {0}
#define SPLAY_INIT(root) do { (root)->sph_root = 0; } while (0)
#define SPLAY_ENTRY(type) struct { struct type *spe_left; struct type *spe_right; }
#define SPLAY_LEFT(elm, field) ((elm)->field.spe_left)
#define SPLAY_RIGHT(elm, field) ((elm)->field.spe_right)
#define SPLAY_ROOT(head) ((head)->sph_root)
#define SPLAY_EMPTY(head) ((head)->sph_root == 0)
#define SPLAY_PROTOTYPE(name, type, field, cmp) \
    struct type *name##_SPLAY_INSERT(struct name *, struct type *); \
    struct type *name##_SPLAY_REMOVE(struct name *, struct type *); \
    struct type *name##_SPLAY_FIND(struct name *, struct type *); \
    struct type *name##_SPLAY_NEXT(struct name *, struct type *); \
    struct type *name##_SPLAY_MIN_MAX(struct name *, int);
#define SPLAY_GENERATE(name, type, field, cmp) SPLAY_PROTOTYPE(name, type, field, cmp)
#define SPLAY_INSERT(name, head, elm) name##_SPLAY_INSERT(head, elm)
#define SPLAY_REMOVE(name, head, elm) name##_SPLAY_REMOVE(head, elm)
#define SPLAY_FIND(name, head, key) name##_SPLAY_FIND(head, key)
#define SPLAY_NEXT(name, head, elm) name##_SPLAY_NEXT(head, elm)
#define SPLAY_MIN(name, head) name##_SPLAY_MIN_MAX(head, -1)
#define SPLAY_MAX(name, head) name##_SPLAY_MIN_MAX(head, 1)
#define SPLAY_FOREACH(x, name, head) \
    for ((x) = SPLAY_MIN(name, head); (x) != 0; (x) = SPLAY_NEXT(name, head, x))
#endif
