fetch forward 500 from names
