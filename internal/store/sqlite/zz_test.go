package sqlite_test
import ("testing";"time";"syscall";"fmt";"sort";"math/rand/v2"
"strandline/internal/store/sqlite")
func cpu() time.Duration { var r syscall.Rusage; syscall.Getrusage(syscall.RUSAGE_THREAD,&r); _ = r; syscall.Getrusage(syscall.RUSAGE_SELF,&r); return time.Duration(r.Utime.Nano()+r.Stime.Nano()) }
func TestZZHook(t *testing.T){
 path := newPath(t)
 s,_ := sqlite.Open(t.Context(), path, sqlite.Options{Bulk:true})
 texts := benchTexts(t, 10000)
 s.ApplyAll(t.Context(), benchBatches(texts)); s.Close()
 id := "00000001-0000-4000-8000-000000000000"
 var walls, cpus []time.Duration
 var so, sc, sk, sa, scl time.Duration
 for n:=1000;n<1400;n++ {
  batch := benchBatches(texts[n%5000 : n%5000+3])[0]
  for i := range batch.Passages { batch.Passages[i].Turn = n }
  batch.Turns[0].Index = n
  t0,c0 := time.Now(), cpu()
  s,err := sqlite.Open(t.Context(), path, sqlite.Options{})
  if err!=nil {t.Fatal(err)}
  t1:=time.Now()
  s.Cursor(t.Context(), id)
  t2:=time.Now()
  s.Known(t.Context(), []uint64{rand.Uint64(),rand.Uint64()})
  t3:=time.Now()
  if err:=s.Apply(t.Context(), batch); err!=nil {t.Fatal(err)}
  t4:=time.Now()
  s.Close()
  t5:=time.Now()
  walls=append(walls,t5.Sub(t0)); cpus=append(cpus,cpu()-c0)
  so+=t1.Sub(t0);sc+=t2.Sub(t1);sk+=t3.Sub(t2);sa+=t4.Sub(t3);scl+=t5.Sub(t4)
 }
 sort.Slice(walls,func(i,j int)bool{return walls[i]<walls[j]});sort.Slice(cpus,func(i,j int)bool{return cpus[i]<cpus[j]})
 fmt.Println("wall min/med",walls[0],walls[200],"p95",walls[380],"cpu min/med",cpus[0],cpus[200],cpus[380])
 fmt.Println("open",so/400,"cursor",sc/400,"known",sk/400,"apply",sa/400,"close",scl/400)
}
