package terms
import ("testing";"fmt")
func TestZZ(t *testing.T){
 for _,s:=range []string{"parseConfigFile","parse_config_file","store_test.go","v1.26.8","E0382 TS2304 ENOENT ERR_MODULE_NOT_FOUND SQLSTATE 23505 HTTP404","3f9c2ab07d1e","7f3a12cd-1111-4222-8333-000000000001","HTTPServer getHTTPResponse","élan Café straße ﬁle ２０２６","日本語テスト です 猫","👍 ok","internal/store/sqlite/rows_test.go:123","don't users' branches queries caches status classes processes boxes axes bus uses --no-verify __init__ foo.Bar.baz ","2026-11-20T10:11:12.123Z","github.com/go-json-experiment/json","a b C 1","x²","dGhpcyBpcyBhIHRlc3QgZ+yZm9ydCB0aGF0/dG8gYmUgc3VyZSBpdCB3b3Jrcw4Kf9cT2XqPz0aB1kLmN8dEfGhIjKlMnOpQ== tail"}{
  fmt.Printf("%q -> %s\n",s,Index(s))
 }
 for _,s:=range []string{"parseConfigFile",`how does "exact Thing" work AND NEAR(x) foo*`,"3f9c2ab","1.26","the","日本語","猫",`un"closed`}{
  fmt.Printf("%q -> %+v\n",s,Query(s))
 }
}
