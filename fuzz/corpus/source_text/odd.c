f(a) int a; { return a; }
//@ assert 1;\
 x
/*@ assert "a\"b" != 0; */ /* open