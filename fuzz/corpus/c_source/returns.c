struct node { int twice(int x) { return x; }
long q(long x) { return x; }
