package redact_test

import "testing"

func TestOracleLogons(t *testing.T) {
	word := fake("tig", "er")
	table(t, []example{
		{"sqlplus scott/" + word + "@ORCL", "sqlplus scott/<password>@ORCL"},
		{"sqlplus -S -L system/" + word + "@//db.corp:1521/XE @a/b.sql", "sqlplus -S -L system/<password>@//db.corp:1521/XE @a/b.sql"},
		{`sqlplus "hr/` + word + `@localhost:1521/orcl"`, `sqlplus "hr/<password>@localhost:1521/orcl"`},
		{"expdp system/" + word + "@ORCL directory=d", "expdp system/<password>@ORCL directory=d"},
		{"sqlldr userid=hr/" + word + "@orcl control=x.ctl", "sqlldr userid=hr/<password>@orcl control=x.ctl"},
		{"CONNECT hr/" + word + "@orcl", "CONNECT hr/<password>@orcl"},
		{`oracledb.connect("hr/` + word + `@localhost/orclpdb")`, `oracledb.connect("hr/<password>@localhost/orclpdb")`},
		{"jdbc:oracle:thin:scott/" + word + "@//db:1521/svc", "jdbc:oracle:thin:scott/<password>@//db:1521/svc"},
		{"jdbc:oracle:thin:scott/" + word + "@(DESCRIPTION=(ADDRESS=x))", "jdbc:oracle:thin:scott/<password>@(DESCRIPTION=(ADDRESS=x))"},
	})
	same(t, []string{
		"sqlplus / as sysdba", "sqlplus /nolog", "sqlplus -v", "sqlplus ", "sqlplus a/b/c.sql", "sqlplus scott/$PW@orcl", "sqlplus scott/" + word,
		"CONNECT to a/b", "jdbc:oracle:thin:@db:1521:XE", "connect(\"a/b\")", "CONNECT user/password@db", "sqlplus -S -L -M -N -O",
	})
}

func TestPasswordsInSQL(t *testing.T) {
	word := fake("hunter", "2")
	table(t, []example{
		{"ALTER USER me IDENTIFIED BY '" + word + "';", "ALTER USER me IDENTIFIED BY '<password>';"},
		{`create user me identified by "` + word + `"`, `create user me identified by "<password>"`},
		{"CREATE USER me IDENTIFIED BY swordfish DEFAULT TABLESPACE t", "CREATE USER me IDENTIFIED BY <password> DEFAULT TABLESPACE t"},
		{"CREATE USER 'me'@'%' IDENTIFIED WITH mysql_native_password BY '" + word + "'", "CREATE USER 'me'@'%' IDENTIFIED WITH mysql_native_password BY '<password>'"},
		{"GRANT ALL ON x.* TO 'me'@'%' IDENTIFIED BY '" + word + "'", "GRANT ALL ON x.* TO 'me'@'%' IDENTIFIED BY '<password>'"},
		{"CREATE ROLE me LOGIN PASSWORD '" + word + "'", "CREATE ROLE me LOGIN PASSWORD '<password>'"},
		{"alter user me with encrypted password '" + word + "';", "alter user me with encrypted password '<password>';"},
		{"SET PASSWORD FOR 'me'@'%' = '" + word + "'", "SET PASSWORD FOR 'me'@'%' = '<password>'"},
		{"SET PASSWORD FOR me = PASSWORD('" + word + "')", "SET PASSWORD FOR me = PASSWORD('<password>')"},
	})
	same(t, []string{
		"the user is identified by 'name'", "identified by `digest` is available", "Create the user that is identified by the token", "IDENTIFIED BY x",
		"the password 'twice' is asked", "ALTER USER me PASSWORD '${PW}'", "SET PASSWORD FOR me = $1", "password for the user\n= 'none'",
		"CREATE USER a; the rest is identified by 'id'", "CREATE USER me IDENTIFIED EXTERNALLY", "sorted by 'name'",
	})
}
