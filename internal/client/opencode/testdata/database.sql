pragma journal_mode = wal;
create table migration (id text primary key, time_completed integer);
create table session (id text primary key, parent_id text, directory text, title text, version text, time_created integer, time_updated integer);
create table message (id text primary key, session_id text, time_created integer, time_updated integer, data text);
create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text);
insert into migration values ('20260622202450_simplify_session_input', 1);
insert into session values
	('ses_aaaa1', null, '/home/ada/shop', 'Rounding', '1.18.33', 1788249600000, 1788249605000),
	('ses_aaaa2', 'ses_aaaa1', '/home/ada/shop', 'Look', '1.18.33', 1788249602000, 1788249603000);
insert into message values
	('msg_1', 'ses_aaaa1', 1788249600000, 0, '{"role":"user","time":{"created":1788249600000}}'),
	('msg_2', 'ses_aaaa1', 1788249601000, 0, '{"role":"assistant","modelID":"big","tokens":{"input":10,"output":5},"time":{"created":1788249601000,"completed":1788249602000}}'),
	('msg_3', 'ses_aaaa1', 1788249604000, 0, '{"role":"user","time":{"created":1788249604000}}'),
	('msg_7', 'ses_aaaa2', 1788249602000, 0, '{"role":"user","time":{"created":1788249602000}}');
insert into part values
	('prt_1', 'msg_1', 'ses_aaaa1', 0, 0, '{"type":"text","text":"Round the total."}'),
	('prt_2', 'msg_2', 'ses_aaaa1', 0, 0, '{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"go test ./basket"},"output":"FAIL","metadata":{"exit":1}}}'),
	('prt_3', 'msg_3', 'ses_aaaa1', 0, 0, '{"type":"text","text":"Now the invoice."}'),
	('prt_7', 'msg_7', 'ses_aaaa2', 0, 0, '{"type":"text","text":"Look around."}');
