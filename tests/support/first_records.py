"""Records as the first version wrote them, byte for byte."""

# a round in the store, selling
ROUND = (
    b'{"item":"apple","number":1,"stock":10,"mode":"lock:lease","think":20,"lease":10000,'
    b'"wait":5000,"attempts":64,"limit":10,"delay":0,"hold":0,"started":1790000000000,'
    b'"ended":null,"tickets":false,"per_buyer":0,"version":1}'
)
# one that sells in the database
SQL_ROUND = (
    b'{"item":"pear","number":1,"stock":60,"mode":"sql","think":0,"lease":10000,"wait":5000,'
    b'"attempts":64,"limit":10,"delay":0,"hold":0,"started":1790000000000,"ended":null,'
    b'"tickets":false,"per_buyer":0,"version":1}'
)
# a sale in the stream, and under its id and key
ORDER = (
    b'{"id":"01990000-0000-7000-8000-000000000001","item":"apple","round":1,"quantity":2,'
    b'"price":60,"buyer":"a-buyer","key":"a-key","at":1790000000005,"request":"a-request",'
    b'"version":1}'
)
# a stampede that has ended
RUN = (
    b'{"id":"apple-0123456789","round":{"item":"apple","number":7,"stock":10,"mode":"naive",'
    b'"think":20,"lease":10000,"wait":5000,"attempts":64,"limit":10,"delay":0,"hold":0,'
    b'"started":1790000000000,"ended":1790000000009,"tickets":false,"per_buyer":0},"buyers":4,'
    b'"seconds":2,"started":1790000000000,"ended":1790000004000,"how":"finished","why":"",'
    b'"figures":{"sold":12,"overall":6.0,"took_s":2.0,"p50_ms":1.5},"audit":{"item":"apple",'
    b'"round":7,"mode":"naive","running":false,"settled":true,"verdict":"oversold",'
    b'"sentence":"Sold 12 of 10. 2 customers will be disappointed.","stocked":10,"left":0,'
    b'"sold":12,"orders":12,"oversold":2,"undersold":0,"duplicate_ids":0,"duplicate_keys":0,'
    b'"sales_without_order":0,"orders_without_sale":0,"in_flight":0,"answers":{"SOLD":12,'
    b'"SOLD_OUT":0,"BUSY":0,"ERROR":0},"conflicts":0,"locks_lost":0,"not_booked":0,"held":0,'
    b'"units_astray":0},"comparison":"","version":1}'
)
# a comparison that has ended
COMPARISON = (
    b'{"id":"comparison-0123456789","item":"apple","stock":10,"times":{"think":20},"buyers":4,'
    b'"seconds":2,"repeats":1,"reference":"naive","modes":["naive","watch"],'
    b'"exhibits":["naive"],"machine":{"version":"0.1.0","workers":2,"threads":16,'
    b'"store":"Valkey 9.1.0","appendfsync":"always","database":"sqlite","cores":2,'
    b'"durability":"safe","combine":true},"started":1790000000000,"ended":1790000009000,'
    b'"how":"finished","why":"","run":"","results":[{"mode":"naive","repeat":1,'
    b'"run":"apple-0123456789","how":"finished","why":"","verdict":"oversold","goodput":6.0,'
    b'"lasted_s":2,"p50_ms":1.5,"p95_ms":2.0,"p99_ms":3.0,"sold":12,"left":0,"oversold":2,'
    b'"undersold":0,"busy":0,"errors":0,"generator_cpu":0.3}],"version":1}'
)
# the status of a worker in a round
POST = (
    b'1790000001250 {"in_flight":0,"seen":1,"quiet":1,"idle":0.5,"left_round":false,'
    b'"answers":{"SOLD":1},"conflicts":2,"locks_lost":0,"age":0.0,"version":1}'
)
# the phones that a worker hears
ROLL = b'[{"id":"a-buyer","name":"Ann","joined":1790000000000,"seen":1790000000009,"version":1}]'
