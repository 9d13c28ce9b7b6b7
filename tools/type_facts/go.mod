module type_facts

go 1.24
